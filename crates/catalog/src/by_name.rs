//! A workqueue whose design is chosen by name, as the program runs.
//!
//! It is an enum over the catalog: each call is a match and then the design's own code; nothing is
//! called through a pointer.
//!
//! ```
//! use slotwork_catalog::AnyWorkqueue;
//! use slotwork_workqueue::Configuration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let configuration = Configuration { workers: 2, ..Configuration::default() };
//! let (queue, submitter) = AnyWorkqueue::build("double-list", configuration, |_slot| 0_u32, |number| *number += 1)?;
//! let mut request = submitter.request()?;
//! *request = 41;
//! request.submit()?;
//! submitter.drain()?;
//! assert_eq!(queue.shutdown()?.handled, 1);
//! # Ok(())
//! # }
//! ```

use crate::UnknownDesign;
use slotwork_workqueue::BuildError;
use std::convert::Infallible;
use thiserror::Error;

/// Why there is no workqueue of that name.
#[derive(Debug, Error)]
pub enum ByNameError<E = Infallible> {
    /// There is no such design.
    #[error(transparent)]
    Unknown(#[from] UnknownDesign),
    /// There is, but it could not be built so.
    #[error(transparent)]
    Build(#[from] BuildError<E>),
}

macro_rules! by_name {
    ($($variant:ident: $design:ty),+) => {
        /// A [`Workqueue`](slotwork_workqueue::Workqueue) of any design in the catalog.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is the design of that name")]
        pub enum AnyWorkqueue<T: Send + 'static> {
            $($variant(slotwork_workqueue::Workqueue<T, $design>)),+
        }

        /// A [`Submitter`](slotwork_workqueue::Submitter) of any design in the catalog.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is the design of that name")]
        pub enum AnySubmitter<T: Send + 'static> {
            $($variant(slotwork_workqueue::Submitter<T, $design>)),+
        }

        /// A [`Vacancy`](slotwork_workqueue::Vacancy) of any design in the catalog.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is the design of that name")]
        pub enum AnyVacancy<'a, T: Send + 'static> {
            $($variant(slotwork_workqueue::Vacancy<'a, T, $design>)),+
        }

        impl<T: Send + 'static> AnyWorkqueue<T> {
            /// Builds one of the design named `design`; see [`Builder::build`](slotwork_workqueue::Builder::build).
            ///
            /// # Errors
            /// [`ByNameError`].
            pub fn build(
                design: &str,
                configuration: slotwork_workqueue::Configuration,
                init: impl FnMut(slotwork::SlotId) -> T,
                handler: impl Fn(&mut T) + Send + Sync + 'static,
            ) -> Result<(Self, AnySubmitter<T>), ByNameError> {
                $(
                    if design == <$design as Design>::NAME {
                        let builder = slotwork_workqueue::Builder::<T, $design>::from(configuration);
                        let (queue, submitter) = builder.build(init, handler)?;
                        return Ok((Self::$variant(queue), AnySubmitter::$variant(submitter)));
                    }
                )+
                Err(UnknownDesign { name: design.into() }.into())
            }

            /// Builds one of the design named `design`; see
            /// [`Builder::try_build`](slotwork_workqueue::Builder::try_build).
            ///
            /// # Errors
            /// [`ByNameError`].
            pub fn try_build<E>(
                design: &str,
                configuration: slotwork_workqueue::Configuration,
                init: impl FnMut(slotwork::SlotId) -> Result<T, E>,
                handler: impl Fn(&mut T) + Send + Sync + 'static,
                done: impl Fn(&mut T) + Send + Sync + 'static,
            ) -> Result<(Self, AnySubmitter<T>), ByNameError<E>> {
                $(
                    if design == <$design as Design>::NAME {
                        let builder = slotwork_workqueue::Builder::<T, $design>::from(configuration);
                        let (queue, submitter) = builder.try_build(init, handler, done)?;
                        return Ok((Self::$variant(queue), AnySubmitter::$variant(submitter)));
                    }
                )+
                Err(UnknownDesign { name: design.into() }.into())
            }

            /// See [`Workqueue::shutdown`](slotwork_workqueue::Workqueue::shutdown).
            ///
            /// # Errors
            /// [`ShutdownError`](slotwork_workqueue::ShutdownError).
            pub fn shutdown(&self) -> Result<slotwork_workqueue::Report, slotwork_workqueue::ShutdownError> {
                match self { $(Self::$variant(queue) => queue.shutdown()),+ }
            }

            /// See [`Workqueue::shutdown_now`](slotwork_workqueue::Workqueue::shutdown_now).
            ///
            /// # Errors
            /// [`ShutdownError`](slotwork_workqueue::ShutdownError).
            pub fn shutdown_now(&self) -> Result<slotwork_workqueue::Report, slotwork_workqueue::ShutdownError> {
                match self { $(Self::$variant(queue) => queue.shutdown_now()),+ }
            }

            /// See [`Workqueue::report`](slotwork_workqueue::Workqueue::report).
            #[must_use]
            pub fn report(&self) -> slotwork_workqueue::Report {
                match self { $(Self::$variant(queue) => queue.report()),+ }
            }

            /// See [`Workqueue::wakes`](slotwork_workqueue::Workqueue::wakes).
            #[must_use]
            pub fn wakes(&self) -> (u64, u64) {
                match self { $(Self::$variant(queue) => queue.wakes()),+ }
            }
        }

        impl<T: Send + 'static> AnySubmitter<T> {
            /// See [`Submitter::try_request`](slotwork_workqueue::Submitter::try_request).
            #[inline]
            pub fn try_request(&self) -> Option<AnyVacancy<'_, T>> {
                match self { $(Self::$variant(submitter) => submitter.try_request().map(AnyVacancy::$variant)),+ }
            }

            /// See [`Submitter::request`](slotwork_workqueue::Submitter::request).
            ///
            /// # Errors
            /// [`RequestError`](slotwork_workqueue::RequestError).
            #[inline]
            pub fn request(&self) -> Result<AnyVacancy<'_, T>, slotwork_workqueue::RequestError> {
                match self { $(Self::$variant(submitter) => submitter.request().map(AnyVacancy::$variant)),+ }
            }

            /// See [`Submitter::request_timeout`](slotwork_workqueue::Submitter::request_timeout).
            ///
            /// # Errors
            /// [`RequestError`](slotwork_workqueue::RequestError).
            pub fn request_timeout(
                &self,
                timeout: std::time::Duration,
            ) -> Result<AnyVacancy<'_, T>, slotwork_workqueue::RequestError> {
                match self {
                    $(Self::$variant(submitter) => submitter.request_timeout(timeout).map(AnyVacancy::$variant)),+
                }
            }

            /// See [`Submitter::drain`](slotwork_workqueue::Submitter::drain).
            ///
            /// # Errors
            /// [`RequestError`](slotwork_workqueue::RequestError).
            pub fn drain(&self) -> Result<(), slotwork_workqueue::RequestError> {
                match self { $(Self::$variant(submitter) => submitter.drain()),+ }
            }

            /// See [`Submitter::drain_timeout`](slotwork_workqueue::Submitter::drain_timeout).
            ///
            /// # Errors
            /// [`RequestError`](slotwork_workqueue::RequestError).
            pub fn drain_timeout(&self, timeout: std::time::Duration) -> Result<(), slotwork_workqueue::RequestError> {
                match self { $(Self::$variant(submitter) => submitter.drain_timeout(timeout)),+ }
            }

            /// See [`Submitter::set_dispatch`](slotwork_workqueue::Submitter::set_dispatch).
            pub fn set_dispatch(&self, dispatch: slotwork::Dispatch) -> bool {
                match self { $(Self::$variant(submitter) => submitter.set_dispatch(dispatch)),+ }
            }

            /// See [`Submitter::try_clone`](slotwork_workqueue::Submitter::try_clone).
            ///
            /// # Errors
            /// [`ClientError`](slotwork::ClientError).
            pub fn try_clone(&self) -> Result<Self, slotwork::ClientError> {
                match self { $(Self::$variant(submitter) => submitter.try_clone().map(Self::$variant)),+ }
            }
        }

        impl<T: Send + 'static> AnyVacancy<'_, T> {
            /// See [`Vacancy::submit`](slotwork_workqueue::Vacancy::submit).
            ///
            /// # Errors
            /// [`Stopped`](slotwork_workqueue::Stopped).
            #[inline]
            pub fn submit(self) -> Result<(), slotwork_workqueue::Stopped> {
                match self { $(Self::$variant(vacancy) => vacancy.submit()),+ }
            }

            /// See [`Vacancy::fate`](slotwork_workqueue::Vacancy::fate).
            #[must_use]
            pub fn fate(&self) -> slotwork_workqueue::Fate {
                match self { $(Self::$variant(vacancy) => vacancy.fate()),+ }
            }

            /// See [`Vacancy::slot`](slotwork_workqueue::Vacancy::slot).
            #[must_use]
            pub fn slot(&self) -> slotwork::SlotId {
                match self { $(Self::$variant(vacancy) => vacancy.slot()),+ }
            }
        }

        impl<T: Send + 'static> std::ops::Deref for AnyVacancy<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                match self { $(Self::$variant(vacancy) => vacancy),+ }
            }
        }

        impl<T: Send + 'static> std::ops::DerefMut for AnyVacancy<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                match self { $(Self::$variant(vacancy) => vacancy),+ }
            }
        }
    };
}

pub(crate) use by_name;
