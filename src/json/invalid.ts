/** What is wrong with an input, for the developer of the client. */
export class Invalid {
  /** In ASCII, as it becomes the header `Error-Detail`; without the input, which may be confidential. */
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}
