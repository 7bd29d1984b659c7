/** The values of a statement's parameters, numbered in the order of their addition. */
export class Parameters {
  readonly values: (string | number | number[] | string[])[] = [];
  readonly #sign: string;

  constructor(sign: '?' | '$') {
    this.#sign = sign;
  }

  /** @returns the parameter that has this value, such as `?1` */
  add(value: (typeof this.values)[number]): string {
    this.values.push(value);
    return `${this.#sign}${this.values.length}`;
  }
}

/** A condition, which adds its values to the parameters of a statement. */
export type Condition = (parameters: Parameters) => string;
