import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The CPU time of a process and its children so far, in seconds (proc_pid_stat(5)). */
export function readCpuSeconds(pid: number): number {
  return sum(processTree(pid), (member) => {
    const fields = statFields(member);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  });
}

/** The CPU time of the exited children of this process, in seconds. */
export function readExitedChildrenCpuSeconds(): number {
  const fields = statFields(process.pid);
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** The resident memory of a process and its children, in bytes (`VmRSS` of proc_pid_status(5)). */
export function readMemoryBytes(pid: number): number {
  return sum(processTree(pid), (member) => statusBytes(member, 'VmRSS'));
}

/** Their peak resident memory since {@link resetPeakMemory}, in bytes (`VmHWM`). */
export function readPeakMemoryBytes(pid: number): number {
  return sum(processTree(pid), (member) => statusBytes(member, 'VmHWM'));
}

/** Resets the peak to the present value. */
export function resetPeakMemory(pid: number): void {
  for (const member of processTree(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5');
}

const QUIET_INTERVAL_MS = 60;
const QUIET_TIMEOUT_MS = 15_000;

/** Waits until a process uses no CPU time, so that it does not affect the next measurement. */
export async function waitUntilIdle(pid: number): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const before = readCpuSeconds(pid);
    await sleep(QUIET_INTERVAL_MS);
    if (readCpuSeconds(pid) - before <= 1 / TICKS_PER_SECOND) return;
  }
}

/** A process and all its descendants. */
function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return children.filter((child) => child !== '').map(Number);
}

/** The fields after the name of the program, which may contain any character. */
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
