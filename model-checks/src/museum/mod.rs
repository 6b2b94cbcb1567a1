//! museum
use crate::models::Model;
use slotwork_catalog::Visitor;
/// none
pub fn visit_exhibit<M: Model, V: Visitor>(_name: &str, _visitor: &mut V) -> Option<V::Output> {
    None
}
