import { StoreUnavailable } from '../book/book.ts';

/** A book is not stored, as there is no id left for it. Other writes succeed. */
export class IdsUsedUp extends StoreUnavailable {
  constructor() {
    super('ids are used up');
  }
}
