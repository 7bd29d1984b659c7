import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks a second, in which the kernel counts the time of processes. */
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The processor time that a process and its children have used so far, in seconds (proc_pid_stat(5)). */
export function readCpuSeconds(pid: number): number {
  return sum(family(pid), (member) => {
    const fields = statFields(member);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  });
}

/** The processor time of this process's children that have ended, in seconds. */
export function readEndedChildrenCpuSeconds(): number {
  const fields = statFields(process.pid);
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** The memory that a process and its children have in use, in bytes (`VmRSS` of proc_pid_status(5)). */
export function readMemoryBytes(pid: number): number {
  return sum(family(pid), (member) => statusBytes(member, 'VmRSS'));
}

/** The most memory that they have had in use since {@link resetPeakMemory}, in bytes (`VmHWM`). */
export function readPeakMemoryBytes(pid: number): number {
  return sum(family(pid), (member) => statusBytes(member, 'VmHWM'));
}

/** Lets the peak begin anew with what is in use now. */
export function resetPeakMemory(pid: number): void {
  for (const member of family(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5');
}

const QUIET_INTERVAL_MS = 60;
const QUIET_TIMEOUT_MS = 15_000;

/** Waits until a process has nothing left to do, so that its leftovers are on nobody else's bill. */
export async function becomesQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const before = readCpuSeconds(pid);
    await sleep(QUIET_INTERVAL_MS);
    if (readCpuSeconds(pid) - before <= 1 / TICKS_PER_SECOND) return;
  }
}

/** A process with all processes below it. */
function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return [pid, ...children.filter((child) => child !== '').flatMap((child) => family(Number(child)))];
}

/** The fields behind the name of the program, which may contain anything. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function statusBytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+([0-9]+) kB$`, 'm').exec(status)?.[1]) * 1_024;
}

function sum(pids: readonly number[], read: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + read(pid), 0);
}
