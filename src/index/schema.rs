//! The message index's fields, read from the format's data file, and its words.

use crate::text::{fold, tokenize};
use std::borrow::Cow;
use tantivy::schema::{Field, Schema};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

/// The version of the stored format; part of the cache directory's name.
pub const VERSION: u32 = 2;
/// The format as data.
pub const SCHEMA_JSON: &str = include_str!("../../index-schema/v2/schema.json");
/// The name the schema gives to our words.
pub const TOKENIZER: &str = "agf-words-1";

/// The fields of a message document.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    pub unit: Field,
    pub role: Field,
    pub seq: Field,
    pub time: Field,
    pub offset: Field,
    pub place: Field,
    pub text: Field,
    pub prose: Field,
    pub tool: Field,
}

/// The schema and its fields.
pub fn schema() -> tantivy::Result<(Schema, Fields)> {
    let data: serde_json::Value =
        serde_json::from_str(SCHEMA_JSON).map_err(|e| tantivy::TantivyError::SchemaError(e.to_string()))?;
    let schema: Schema = serde_json::from_value(data["fields"].clone())
        .map_err(|e| tantivy::TantivyError::SchemaError(e.to_string()))?;
    let fields = Fields {
        unit: schema.get_field("unit")?,
        role: schema.get_field("role")?,
        seq: schema.get_field("seq")?,
        time: schema.get_field("time")?,
        offset: schema.get_field("offset")?,
        place: schema.get_field("place")?,
        text: schema.get_field("text")?,
        prose: schema.get_field("prose")?,
        tool: schema.get_field("tool")?,
    };
    Ok((schema, fields))
}

/// Gives an index our words.
pub fn register(index: &tantivy::Index) {
    index.tokenizers().register(TOKENIZER, Words::default());
}

/// Our words beside the default tokenizers, which number fields ask for.
pub fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, Words::default());
    tokenizers
}

/// Our words as a tantivy tokenizer.
#[derive(Debug, Clone, Default)]
pub struct Words {
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        let tokens = match fold::compose(text) {
            Cow::Borrowed(text) => Source::Text(tokenize::Tokens::new(text)),
            Cow::Owned(text) => Source::Composed(all_tokens(&text).into_iter()),
        };
        WordStream { tokens, token: &mut self.token }
    }
}

fn all_tokens(text: &str) -> Vec<(String, u32)> {
    let mut tokens = tokenize::Tokens::new(text);
    let mut word = String::new();
    let mut all = Vec::new();
    while let Some(span) = tokens.next_into(&mut word) {
        all.push((word.clone(), span.position));
    }
    all
}

enum Source<'a> {
    Text(tokenize::Tokens<'a>),
    Composed(std::vec::IntoIter<(String, u32)>),
}

/// The words of one text.
pub struct WordStream<'a> {
    tokens: Source<'a>,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        match &mut self.tokens {
            Source::Text(tokens) => match tokens.next_into(&mut self.token.text) {
                Some(span) => self.token.position = span.position as usize,
                None => return false,
            },
            Source::Composed(tokens) => match tokens.next() {
                Some((word, position)) => {
                    self.token.text.clear();
                    self.token.text.push_str(&word);
                    self.token.position = position as usize;
                }
                None => return false,
            },
        }
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
