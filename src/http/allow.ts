import type { RouteOptions } from 'fastify';

/** The methods of each path, for `Allow` (RFC 9110, section 10.2.1). */
export class Allow {
  readonly #paths = new Map<string, { readonly pattern: RegExp; readonly methods: string[] }>();

  /** A hook that is called with each route. */
  readonly add = ({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void => {
    if (url === '*') return;
    const pattern = new RegExp(`^${url.replaceAll('.', '[.]').replace(/:[a-z]+/g, '[^/]+')}$`);
    const path = this.#paths.get(url) ?? { pattern, methods: [] };
    this.#paths.set(url, path);
    path.methods.push(...[method].flat());
  };

  /** @returns the methods of the path of a request target, with commas between them; undefined if there is no such path */
  of(target: string): string | undefined {
    const [path = ''] = target.split('?', 1);
    const known = this.#paths.values().find(({ pattern }) => pattern.test(path));
    return known?.methods.join(', ');
  }
}
