//! The door through which checks that are generic over designs are instantiated with those of the catalog.

#[cfg(not(test))]
pub(crate) use slotwork_catalog::visit_named;

/// Knows no design: no unit test of this library runs one, and to compile every model with every design once more, for
/// those tests alone, would take minutes. What runs designs is tested in `tests/`.
///
/// # Errors
/// Always.
#[cfg(test)]
pub(crate) fn visit_named<V: slotwork_catalog::Visitor>(
    name: &str,
    _visitor: &mut V,
) -> Result<V::Output, slotwork_catalog::UnknownDesign> {
    Err(slotwork_catalog::UnknownDesign { name: name.into() })
}
