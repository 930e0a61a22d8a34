//! Table of operations in progress, indexed by number.

use serde::{Deserialize, Serialize};

/// Values by number; the numbers of removed values are reused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Table<T> {
    all: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            vacant: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    /// Returns the number that the next value will get.
    pub fn next(&self) -> u32 {
        self.vacant.last().copied().unwrap_or(self.all.len() as u32)
    }
    pub fn add(&mut self, value: T) -> u32 {
        if let Some(number) = self.vacant.pop() {
            self.all[number as usize] = Some(value);
            return number;
        }
        self.all.push(Some(value));
        self.all.len() as u32 - 1
    }
    pub fn get(&self, number: u32) -> Option<&T> {
        self.all.get(number as usize)?.as_ref()
    }
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.all.get_mut(number as usize)?.as_mut()
    }
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let value = self.all.get_mut(number as usize)?.take();
        if value.is_some() {
            self.vacant.push(number);
        }
        value
    }
    /// Drops the value with this number, which must exist.
    pub fn free(&mut self, number: u32) {
        self.all[number as usize] = None;
        self.vacant.push(number);
    }
    /// Iterates over the values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.all.iter().flatten()
    }
    pub fn len(&self) -> usize {
        self.all.len() - self.vacant.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Removes and returns all values.
    pub fn drain(&mut self) -> impl Iterator<Item = (u32, T)> + use<T> {
        self.vacant.clear();
        let all = std::mem::take(&mut self.all);
        (0..)
            .zip(all)
            .filter_map(|(number, value)| Some((number, value?)))
    }
}
