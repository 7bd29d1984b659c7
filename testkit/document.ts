import { startBareServer } from './bare-server.ts';

/** The part of OpenAPI 3.1 that the tests read. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface OperationObject {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
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

/** The examples of a response, by outcome. */
export function examplesOf({ content }: ResponseObject): [name: string, example: Envelope][] {
  const examples = content?.['application/json']?.examples ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value]);
}

export interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/** `/openapi.json`, which is the same on every server, and so requested once. */
export function readDocument(): Promise<OpenApi> {
  document ??= fetchDocument();
  return document;
}

let document: Promise<OpenApi> | undefined;

async function fetchDocument(): Promise<OpenApi> {
  await using server = await startBareServer();
  return (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
}
