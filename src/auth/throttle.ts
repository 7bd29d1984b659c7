import { isIP, isIPv6 } from 'node:net';

/** What failed logins are measured by. */
export interface ThrottleLimits {
  /** The failures an address may have within one window. */
  readonly failuresMax: number;
  /** The length of a window, which begins with an address's first failure. */
  readonly windowSeconds: number;
}

/** Enough for people who mistype, too little for machines that guess. */
export const THROTTLE_LIMITS: ThrottleLimits = { failuresMax: 100, windowSeconds: 60 };

/** Beyond this many, the window that began first is forgotten: nobody fills the memory from many addresses. */
const WINDOWS_MAX = 100_000;

/** The failures of one network. */
interface Window {
  failures: number;
  readonly endsAtMs: number;
}

/** Counts failed logins by client address, within this process. */
export class LoginThrottle {
  readonly #limits: ThrottleLimits;
  readonly #now: () => number;
  /** By network, in the order in which they began, and so end. */
  readonly #windows = new Map<string, Window>();

  /** @param now the clock, in milliseconds since 1970 */
  constructor(limits: ThrottleLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** @returns the seconds for which this address has to wait: 0 when it need not */
  secondsToWait(address: string): number {
    const window = this.#windows.get(network(address));
    return window && window.failures >= this.#limits.failuresMax ? this.#secondsLeft(window) : 0;
  }

  /**
   * Counts one failed login.
   *
   * @returns the seconds for which this address has to wait, when others that came at once have used up the limit
   */
  fail(address: string): number {
    const key = network(address);
    let window = this.#windows.get(key);
    if (!window || this.#secondsLeft(window) === 0) window = this.#begin(key);
    window.failures++;
    return window.failures > this.#limits.failuresMax ? this.#secondsLeft(window) : 0;
  }

  #begin(key: string): Window {
    const window = { failures: 0, endsAtMs: this.#now() + this.#limits.windowSeconds * 1_000 };
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const [oldest, { endsAtMs }] of this.#windows) {
      if (endsAtMs > this.#now() && this.#windows.size <= WINDOWS_MAX) break;
      this.#windows.delete(oldest);
    }
    return window;
  }

  #secondsLeft({ endsAtMs }: Window): number {
    return Math.max(0, Math.ceil((endsAtMs - this.#now()) / 1_000));
  }
}

/** Proxies may have names for clients instead of addresses (RFC 7239, section 6); longer ones count by their start. */
const NAME_LENGTH_MAX = 64;

/** What an address counts as: one customer commonly has a whole /64 of IPv6 (RFC 6177). */
export function network(client: string): string {
  const address = plainAddress(client);
  if (!isIPv6(address)) return address.slice(0, NAME_LENGTH_MAX);
  const prefix = groupsOf(address).slice(0, 4);
  return `${prefix.map((group) => group.toString(16)).join(':')}::/64`;
}

/** The address of a client for the log; undefined where a proxy gives a name instead. */
export function addressOf(client: string): string | undefined {
  const address = plainAddress(client);
  return isIP(address) === 0 ? undefined : address;
}

/** Without the port that some proxies add, and as IPv4 where it is mapped into IPv6 (RFC 4291, section 2.5.5.2). */
function plainAddress(client: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::[0-9]+)?|([0-9.]+):[0-9]+)$/.exec(client) ?? [];
  const address = ipv6 ?? ipv4 ?? client;
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const [, , , , , mark, high = 0, low = 0] = groups;
  const isMapped = mark === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') : address;
}

/** The eight numbers of an IPv6 address in any of its written forms (RFC 4291, section 2.2). */
function groupsOf(address: string): number[] {
  const plain = address
    .replace(/%.*$/, '')
    .replace(/([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)$/, (_, ...bytes: string[]) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
      return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    });
  const [left = [], right = []] = plain
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
