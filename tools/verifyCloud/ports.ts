import type { Clock } from '../../shared/clock.ts';
import type { Ended } from '../program.ts';
import type { Command, Exchange, Values } from './action.ts';
import type { Reply } from './step.ts';

/** What a run does to the world: mocked in tests. Names in actions are replaced before. */
export interface Ports {
  /** Runs a program to its end. An aborted signal interrupts it once, and its end is awaited. */
  run(command: Command, signal: AbortSignal): Promise<Ended>;
  send(request: Exchange, signal: AbortSignal): Promise<Reply>;
  /** Creates a file that only its owner can read. */
  write(path: string, content: string): Promise<void>;
  lookup(name: string, type: string): Promise<readonly string[]>;
}

/** What a run needs beside its steps. */
export interface Session {
  readonly ports: Ports;
  /** The values that are known before the first step. */
  readonly values: Values;
  /** Aborts the steps, never the clean-up. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly clock?: Clock;
}
