/** A response without its envelope. */
export interface Reply {
  readonly status: number;
  readonly message: string;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
