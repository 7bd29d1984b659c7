import { startBareServer } from './server.ts';

/** As much of OpenAPI 3.1 as the tests look at. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface OperationObject {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ResponseObject {
  readonly headers?: Readonly<Record<string, { readonly required: boolean; readonly schema: object }>>;
  readonly content?: {
    readonly 'text/plain'?: object;
    readonly 'application/json'?: {
      readonly schema: object;
      readonly examples: Readonly<
        Record<string, { readonly description?: string; readonly value: Envelope }>
      >;
    };
  };
}

/** The outcomes that a response may be, each by its name, with an answer as it comes. */
export function examplesOf({ content }: ResponseObject): [name: string, answer: Envelope][] {
  const examples = content?.['application/json']?.examples ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value]);
}

export interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/** What a server says of itself at `/openapi.json`. It says the same wherever it runs, so it is read once. */
export function readDocument(): Promise<OpenApi> {
  document ??= ask();
  return document;
}

let document: Promise<OpenApi> | undefined;

async function ask(): Promise<OpenApi> {
  await using server = await startBareServer();
  return (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
}
