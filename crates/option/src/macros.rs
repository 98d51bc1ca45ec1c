//! `options!` and `choices!`.

/// Declares a struct of options; see the crate's documentation for an example.
///
/// Each field reads `name: Type = "default", attribute(..), ..;`. The default may be left
/// out, then the type's own default holds. Attributes are the methods of [`Def`](crate::Def).
#[macro_export]
macro_rules! options {
    (
        $(#[doc = $title:literal])+
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $ty:ty $(= $default:literal)? $(, $attr:ident($($arg:expr),*))* ;
            )*
        }
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $doc])+ pub $field: $ty, )*
        }

        impl $crate::OptionSet for $name {
            const TITLE: &'static str = concat!($($title, "\n"),+);
            const DEFS: &'static [$crate::Def] = &[
                $( $crate::Def::of::<$ty>(stringify!($field), concat!($($doc, "\n"),+))
                    $(.default($default))? $(.$attr($($arg),*))* ),*
            ];

            fn set(
                &mut self,
                index: usize,
                text: Option<&str>,
                kb_base: $crate::KbBase,
            ) -> Result<Option<String>, $crate::ValueError> {
                let mut fields = 0usize..;
                $( if fields.next() == Some(index) {
                    return $crate::assign(
                        &mut self.$field, &Self::DEFS[index], text, kb_base,
                    );
                } )*
                let _ = (&mut fields, text, kb_base);
                panic!("option index {index} is out of bounds")
            }

            fn show(&self, index: usize) -> String {
                let mut fields = 0usize..;
                $( if fields.next() == Some(index) {
                    return $crate::Value::show(&self.$field);
                } )*
                let _ = &mut fields;
                panic!("option index {index} is out of bounds")
            }

            fn is_default(&self, index: usize) -> bool {
                let mut fields = 0usize..;
                $( if fields.next() == Some(index) {
                    return $crate::is_initial(&self.$field, &Self::DEFS[index]);
                } )*
                let _ = &mut fields;
                panic!("option index {index} is out of bounds")
            }

            fn default_error(index: usize) -> Option<$crate::ValueError> {
                let mut fields = 0usize..;
                $( if fields.next() == Some(index) {
                    return $crate::check_default::<$ty>(&Self::DEFS[index]);
                } )*
                let _ = &mut fields;
                panic!("option index {index} is out of bounds")
            }
        }

        impl Default for $name {
            fn default() -> Self {
                let mut defs = <Self as $crate::OptionSet>::DEFS.iter();
                let _ = &mut defs;
                Self {
                    $( $field: $crate::initial(
                        defs.next().expect("one declaration for each field"),
                    ), )*
                }
            }
        }
    };
}

/// Declares an enumeration and the words that stand for its variants.
///
/// Each variant reads `Variant = "word" | "other spelling";` and carries its help as a doc
/// comment. The first variant is the Rust default. `, later("reason")` or
/// `, refused("reason")` behind the words refuses the variant by name.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $title:literal])+
        $vis:vis enum $name:ident {
            $(#[doc = $doc0:literal])+
            $first:ident = $word0:literal $(| $other0:literal)* ;
            $(
                $(#[doc = $doc:literal])+
                $variant:ident = $word:literal $(| $other:literal)*
                    $(, later($later:literal))? $(, refused($refused:literal))? ;
            )*
        }
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        $vis enum $name {
            $(#[doc = $doc0])+
            #[default]
            $first,
            $( $(#[doc = $doc])+ $variant, )*
        }

        impl $name {
            /// The word for this choice.
            pub const fn word(self) -> &'static str {
                match self {
                    $name::$first => $word0,
                    $( $name::$variant => $word, )*
                }
            }

            /// Finds the choice for a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $word0 $(| $other0)* => Some($name::$first),
                    $( $word $(| $other)* => Some($name::$variant), )*
                    _ => None,
                }
            }
        }

        impl $crate::Value for $name {
            const KIND: $crate::Kind = $crate::Kind::Choice;
            const CHOICES: &'static [$crate::Choice] = &[
                $crate::Choice {
                    name: $word0, aliases: &[$($other0),*], help: concat!($($doc0, "\n"),+),
                },
                $( $crate::Choice {
                    name: $word, aliases: &[$($other),*], help: concat!($($doc, "\n"),+),
                } ),*
            ];

            fn parse(
                text: &str,
                _: &$crate::Ctx<'_>,
            ) -> Result<$crate::Scanned<Self>, $crate::ValueError> {
                $name::from_word(text.trim())
                    .map(|value| $crate::Scanned { value, note: None })
                    .ok_or_else(|| $crate::bad_choice(text, Self::CHOICES))
            }

            fn show(&self) -> String {
                self.word().to_string()
            }

            fn state(&self) -> $crate::State {
                match self {
                    $( $( $name::$variant => $crate::State::Later($later), )? )*
                    $( $( $name::$variant => $crate::State::Refused($refused), )? )*
                    #[allow(unreachable_patterns, reason = "when every variant is refused")]
                    _ => $crate::State::Works,
                }
            }
        }
    };
}
