/** A connection string that lists these ports of this machine. */
export function withHosts(url: string, ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return url.replace(/@[^/]*/, `@${hosts}`);
}
