//! Workloads, measuring, statistics, and the slotwork command.
