import type { Clock } from '../../shared/clock.ts';
import type { Ended } from '../program.ts';
import type { Action, Command, Exchange, NewFile } from './action.ts';
import type { Statement } from './statements.ts';

/** How an observation compares with the expectation. */
type Verdict = 'as expected' | 'contradicts' | 'not settled';

/** What the run observed of a statement. */
export interface Finding {
  readonly statement: Statement;
  readonly expected: string;
  readonly observed: string;
  readonly verdict: Verdict;
}

/** The response to a request, as far as it came. */
export interface Reply {
  /** Absent where no response came. */
  readonly status: number | undefined;
  readonly contentType: string;
  /** What the headers announced; `undefined` for a streamed response. */
  readonly announcedBytes: number | undefined;
  readonly text: string;
  readonly seconds: number;
  /** Why the connection ended early; absent for a complete response. */
  readonly broken?: string;
}

/** What a step can do. Each action must be one that the step lists. */
export interface Context {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Runs a command. @throws Error with the end of its output where it fails */
  run(command: Command): Promise<Ended>;
  /** Runs a command that may fail. */
  attempt(command: Command): Promise<Ended>;
  /** Sends a request. A broken connection is a reply too. */
  send(request: Exchange): Promise<Reply>;
  write(file: NewFile): Promise<void>;
  /** Resolves a DNS name; nothing where it has no such record. */
  lookup(name: string, type: string): Promise<readonly string[]>;
  /** Sets what `$NAME` stands for from now on. */
  set(name: string, value: string): void;
  print(line: string): void;
}

/** A command that takes a step back. */
export interface Undo {
  readonly command: Command;
  /** Whether it must wait until everything else is gone, since that cannot be removed without it. */
  readonly isLast?: boolean;
}

/** One row of the run. */
export interface Step {
  readonly name: string;
  readonly title: string;
  readonly settles: readonly Statement[];
  /** Everything that `perform` may do, in its order. */
  readonly actions: readonly Action[];
  /** What to do afterwards, in this order, also where the step failed. */
  readonly undo?: readonly Undo[];
  /** Whether later steps can do without it: its failure is a finding. */
  readonly isExperiment?: boolean;
  /** Whether only an option includes it. */
  readonly isOptional?: boolean;
  perform(context: Context): Promise<readonly Finding[]>;
}

/** Compares an observation with what was expected; an expectation that is open takes more than one outcome. */
export function finding(statement: Statement, expected: string, observed: string, isExpected: boolean): Finding {
  return { statement, expected, observed, verdict: isExpected ? 'as expected' : 'contradicts' };
}

/** Says that an experiment showed nothing about a statement, and why. */
export function notSettled(statement: Statement, expected: string, observed: string): Finding {
  return { statement, expected, observed, verdict: 'not settled' };
}

/** Describes a reply in a few words, without its content. */
export function describeReply({ status, contentType, text, broken, seconds }: Reply): string {
  const size = `${Buffer.byteLength(text)} bytes`;
  const kind = contentType === '' ? '' : ` of ${contentType}`;
  const start = status === undefined ? 'no response' : `${status}, ${size}${kind}`;
  return `${start}, after ${Math.round(seconds)} s${broken === undefined ? '' : `, cut: ${broken}`}`;
}

/** Whether a reply is complete, and has this status. */
export function hasStatus(reply: Reply, status: number): boolean {
  return reply.status === status && reply.broken === undefined;
}
