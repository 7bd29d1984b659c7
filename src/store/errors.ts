import { StoreUnavailable } from '../book/book-store.ts';

/** The store cannot be reached or prepared at startup. The message is one line for operators, without secrets. */
export class StoreNotReady extends Error {
  override readonly name = 'StoreNotReady';
}

/** A book is not stored because no id is left for it. Other writes succeed. */
export class IdsExhausted extends StoreUnavailable {
  constructor() {
    super('ids exhausted');
  }
}
