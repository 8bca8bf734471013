import type { AsyncCommand } from 'fast-check';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { contentsOf, expectSame } from './contents.ts';
import type { Model } from './model.ts';
import type { Stated } from './modelFile.ts';
import type { Options } from './modelImport.ts';
import type { System } from './system.ts';

/** An interrupted import. */
export interface Interrupted {
  readonly orgs: readonly Organisation[];
  readonly options: Options;
}

/** The state of the machine: the model, and the imports that wait to be sent again. */
export interface State {
  readonly model: Model;
  readonly interrupted: Interrupted[];
  /** An earlier export. */
  kept: KeptExport | undefined;
}

/** The bytes and organisations of an export, and the secrets that its manifest states as selected. */
interface KeptExport {
  readonly bytes: string;
  readonly orgs: readonly Organisation[];
  readonly stated: Stated;
}

/** A step of the machine. */
export type Step = AsyncCommand<State, System>;

/**
 * Creates a step, after which the whole database is compared with the model.
 * @param run makes the step in the system and in the model
 * @param check whether the step is possible now
 */
export function step(
  name: string,
  run: (state: State, system: System) => Promise<unknown>,
  check: (state: State) => boolean = () => true,
): Step {
  return {
    check,
    async run(state, system) {
      system.onStep();
      const before = contentsOf(state.model);
      try {
        await run(state, system);
        await expectSame(system.store, state.model);
      } catch (cause) {
        throw new Error(`${name}\nfailed where the database was\n${Object.values(before).join('\n')}`, { cause });
      }
    },
    toString: () => name,
  };
}

/** Returns a value that the check of a step requires. */
export function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the step was not checked');
  return value;
}

const usual: ReadonlySet<unknown> = new Set(['e@example.com', 'F', 'L', 'KEY_TYPE_JSON']);

/** Writes a step's arguments briefly, without the values that all records share. */
export function brief(value: unknown): string {
  const text = JSON.stringify(pruned(value)) ?? '';
  return text
    .replace(/"(\w+)":/g, '$1:')
    .replace(/(USER|ORG)_STATE_/g, '')
    .replaceAll('"', "'");
}

function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== 'object' || value === null) return usual.has(value) ? undefined : value;
  const parts = Object.entries(value).map(([name, part]) => [name, pruned(part)] as const);
  const kept = parts.filter(([name, part]) => name !== 'publicKey' && part !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
