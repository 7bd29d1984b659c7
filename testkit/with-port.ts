/** The URL of a database, with another port of this machine, such as that of a relay. */
export function withPort(url: string, port: number): string {
  return url.replace(/@[^/]*/, `@127.0.0.1:${port}`);
}
