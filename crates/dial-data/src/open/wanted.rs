//! Which columns of a file a reader of sheets is to read, and how.

use crate::error::Fault;
use crate::pool::ReadOptions;
use crate::tables::column_roles::Roles;

/// Chooses columns by their names and by what those say of them.
pub(crate) type Choose<'a> = &'a dyn Fn(&[String], &Roles) -> Result<Vec<usize>, Fault>;

/// What a sheet is read for.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// A pool: all columns but those that were to be left out.
    Pool(&'a ReadOptions),
    /// Some columns as words; names in the options that the file does not have are meant for another one.
    Words(&'a ReadOptions, Choose<'a>),
}

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// As what its cells are.
    Free,
    /// As it is written.
    Words,
    /// Not at all.
    Nothing,
}

impl<'a> Wanted<'a> {
    pub fn options(self) -> &'a ReadOptions {
        match self {
            Wanted::Pool(options) | Wanted::Words(options, _) => options,
        }
    }

    pub fn is_pool(self) -> bool {
        matches!(self, Wanted::Pool(_))
    }

    /// What columns are for and how each is read; `named` says whether their names are from the file.
    pub fn uses(self, names: &[String], named: bool) -> Result<(Roles, Vec<Use>), Fault> {
        let all = 0..names.len();
        match self {
            Wanted::Pool(options) => {
                let roles = Roles::new(names, named, options)?;
                let of = |at: usize| match () {
                    _ if roles.dropped.contains(&at) => Use::Nothing,
                    _ if roles.as_written(at) => Use::Words,
                    _ => Use::Free,
                };
                let uses = all.map(of).collect();
                Ok((roles, uses))
            }
            Wanted::Words(options, choose) => {
                let here = |name: &Option<String>| name.clone().filter(|name| names.contains(name));
                let own = ReadOptions {
                    id_column: here(&options.id_column),
                    label_column: here(&options.label_column),
                    ..ReadOptions::default()
                };
                let roles = Roles::new(names, named, &own)?;
                let chosen = choose(names, &roles)?;
                let of = |at: usize| match chosen.contains(&at) {
                    true => Use::Words,
                    false => Use::Nothing,
                };
                Ok((roles, all.map(of).collect()))
            }
        }
    }
}
