//! The list of engines. A new engine is one file and one line here.

use crate::api::{Caps, Engine};

/// Work that is generic over the engine; [`dispatch`] runs it for one chosen by name.
pub trait Visitor {
    /// What the work gives.
    type Out;
    /// Does the work for engine `E`.
    fn visit<E: Engine>(self) -> Self::Out;
}

macro_rules! engines {
    ($($kind:ident => $engine:path),* $(,)?) => {
        /// An engine that is built in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EngineKind { $(
            #[doc = concat!("See `", stringify!($engine), "`.")]
            $kind
        ),* }

        impl EngineKind {
            /// All engines, in the order of the list.
            pub const ALL: &'static [EngineKind] = &[$(EngineKind::$kind),*];
        }

        /// Runs `visitor` for the engine `kind` names: the one place where a run's code is
        /// specialised.
        pub fn dispatch<V: Visitor>(kind: EngineKind, visitor: V) -> V::Out {
            match kind { $(EngineKind::$kind => visitor.visit::<$engine>()),* }
        }
    };
}

engines! {
    Null => crate::null::Null,
    Psync => crate::psync::Psync,
}

/// What an engine can do.
pub fn caps(kind: EngineKind) -> Caps {
    struct Get;
    impl Visitor for Get {
        type Out = Caps;
        fn visit<E: Engine>(self) -> Caps {
            E::CAPS
        }
    }
    dispatch(kind, Get)
}
