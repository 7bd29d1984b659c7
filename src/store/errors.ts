/** The store cannot be reached or prepared at startup. The message is one line for operators, without secrets. */
export class StoreNotReady extends Error {
  override readonly name = 'StoreNotReady';
}
