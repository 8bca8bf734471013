import { systemClock } from '../../shared/clock.ts';
import type { Ended } from '../program.ts';
import { type Action, type Command, fill, show } from './action.ts';
import { cleanUp } from './cleanUp.ts';
import type { Session } from './ports.ts';
import { redact } from './redact.ts';
import { resolveCommand, resolveRequest } from './resolve.ts';
import { type Context, type Finding, notSettled, type Step } from './step.ts';

/** How a run ended. */
export interface Outcome {
  readonly findings: readonly Finding[];
  /** The steps that failed, with their reasons. */
  readonly failures: readonly string[];
  /** Whether every step was reached. */
  readonly isComplete: boolean;
  /** The commands that clean up by hand what the run could not. */
  readonly left: readonly string[];
}

/** Walks the steps, and takes back what they did: always, however they end. */
export async function runSteps(steps: readonly Step[], session: Session): Promise<Outcome> {
  const values = new Map(session.values);
  const begun: Step[] = [];
  const findings: Finding[] = [];
  const failures: string[] = [];
  try {
    for (const step of steps) {
      session.signal.throwIfAborted();
      begun.push(step);
      session.print(`\n== ${step.title}`);
      findings.push(...(await perform(step, createContext(step, values, session), failures)));
    }
  } catch (error) {
    failures.push(session.signal.aborted ? 'the run was interrupted' : reason(error));
  }
  const isComplete = begun.length === steps.length && !session.signal.aborted;
  const left = await cleanUp(begun, values, session);
  return { findings, failures, isComplete, left };
}

/** Performs one step. The failure of an experiment is recorded, and the run continues. */
async function perform(step: Step, context: Context, failures: string[]): Promise<readonly Finding[]> {
  try {
    return await step.perform(context);
  } catch (error) {
    if (step.isExperiment !== true || context.signal.aborted) throw new Error(`${step.name}: ${reason(error)}`);
    failures.push(`${step.name}: ${reason(error)}`);
    context.print(`failed: ${reason(error)}`);
    return step.settles.map((statement) => notSettled(statement, 'an experiment', `it failed: ${reason(error)}`));
  }
}

function createContext(step: Step, values: Map<string, string>, session: Session): Context {
  const { ports, signal, print } = session;
  const announce = (action: Action) => {
    if (!step.actions.includes(action)) throw new Error(`${step.name} does not list ${show(action, values)}`);
    signal.throwIfAborted();
    print(show(action, values));
  };
  const attempt = async (command: Command): Promise<Ended> => {
    announce(command);
    const ended = await ports.run(resolveCommand(command, values), signal);
    signal.throwIfAborted();
    return ended;
  };
  return {
    clock: session.clock ?? systemClock,
    signal,
    attempt,
    run: async (command) => expectSuccess(await attempt(command), command),
    send: async (request) => {
      announce(request);
      const reply = await ports.send(resolveRequest(request, values), signal);
      signal.throwIfAborted();
      return reply;
    },
    write: async (file) => {
      announce(file);
      await ports.write(fill(file.path, values), file.create(values));
    },
    lookup: ports.lookup,
    set: (name, value) => void values.set(name, value),
    print: (line) => print(redact(line)),
  };
}

const END_OF_OUTPUT = 2_000;

function expectSuccess(ended: Ended, { program, args }: Command): Ended {
  if (ended.code === 0) return ended;
  const output = redact(`${ended.stdout}${ended.stderr}`).trim().slice(-END_OF_OUTPUT);
  throw new Error(`${program} ${args.join(' ')} ended with ${ended.code}:\n${output}`);
}

function reason(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error));
}
