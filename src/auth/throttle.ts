import { isIPv6 } from 'node:net';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** What failed logins are measured by. */
export interface ThrottleLimits {
  /** The failures an address may have within one window. */
  readonly failuresMax: number;
  /** The length of a window, which begins with an address's first failure. */
  readonly windowSeconds: number;
}

/** Enough for people who mistype, too little for machines that guess. */
export const THROTTLE_LIMITS: ThrottleLimits = { failuresMax: 100, windowSeconds: 60 };

/** Counts failed logins by client address, within this process. */
export class LoginThrottle {
  readonly #failures: RateLimiterMemory;
  readonly #failuresMax: number;

  constructor({ failuresMax, windowSeconds }: ThrottleLimits) {
    this.#failures = new RateLimiterMemory({ points: failuresMax, duration: windowSeconds });
    this.#failuresMax = failuresMax;
  }

  /** @returns the seconds for which this address has to wait: 0 when it need not */
  async secondsToWait(address: string): Promise<number> {
    const failures = await this.#failures.get(network(address));
    return failures && failures.consumedPoints >= this.#failuresMax ? secondsLeft(failures) : 0;
  }

  /**
   * Counts one failed login.
   *
   * @returns the seconds for which this address has to wait, when others that came at once have used up the limit
   */
  async fail(address: string): Promise<number> {
    const failures = await this.#failures.penalty(network(address));
    return failures.consumedPoints > this.#failuresMax ? secondsLeft(failures) : 0;
  }
}

function secondsLeft({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}

/**
 * What an address counts as: one customer commonly has a whole /64 of IPv6 (RFC 6177), and IPv4 may come mapped into
 * IPv6 (RFC 4291, section 2.5.5.2).
 */
export function network(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const [, , , , , mark, high = 0, low = 0] = groups;
  const isMapped = mark === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
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
