import fc from 'fast-check';
import { organisationRoles, userIds } from './file.ts';
import { textAt, textsAt } from './kinds.ts';
import type { Model } from './model.ts';
import { required } from './step.ts';
import type { System } from './system.ts';

/** A call that never waits for an import, which must not undo the call's effect. */
export interface Protection {
  readonly name: string;
  /** @returns whether the call succeeded */
  readonly call: (system: System) => Promise<boolean>;
  /** Applies the call to a model. A repetition changes no content. */
  readonly effect: (model: Model) => void;
  /** Whether the call succeeds in a model. */
  readonly succeeds: (model: Model) => boolean;
  /** The record that the call changes; undefined if no import can contain it. */
  readonly place?: string;
}

/** A call whose subject depends on the model. */
interface AnyProtection {
  readonly name: string;
  /** Chooses a call: one that changes a record at a preferred place, if there is any. */
  readonly choose: (model: Model, preferred?: ReadonlySet<string>) => Protection;
}

const NONE = { json: {}, orgId: '' };

const locks = {
  lock: { from: ['USER_STATE_ACTIVE', 'USER_STATE_INITIAL'], to: 'USER_STATE_LOCKED' },
  unlock: { from: ['USER_STATE_LOCKED'], to: 'USER_STATE_ACTIVE' },
} as const;

function changeOfLock(change: keyof typeof locks): readonly Protection[] {
  const { from, to } = locks[change];
  return userIds.map((userId) => {
    const place = `users ${userId}`;
    const isSuitable = (model: Model) => {
      const state = textAt(model.records.get(place) ?? NONE, 'state');
      return [...from, to].some((suitable) => suitable === state);
    };
    return {
      name: `user ${change} ${userId}`,
      call: (system) => succeeded(system, `user ${change}`, [userId]),
      effect: (model) => {
        const user = model.records.get(place);
        // A state that is already there is written, too, so that an import does not replace it.
        if (user !== undefined && isSuitable(model)) model.change(place, user, { json: { ...user.json, state: to } });
      },
      succeeds: isSuitable,
      place,
    };
  });
}

const removalOfFactor = (): readonly Protection[] =>
  userIds.map((userId) => {
    const place = `users ${userId}`;
    return {
      name: `removal of ${userId}'s factor`,
      call: async (system) => (await system.removeOtpEmail(system.instance.token, userId)).status === 200,
      effect: (model) => {
        const user = model.records.get(place);
        if (user?.factor === true) model.change(place, user, { factor: false });
      },
      succeeds: (model) => model.records.get(place)?.factor === true,
      place,
    };
  });

const changeOfMember = (before: Model, change: 'add' | 'remove'): readonly Protection[] =>
  before.ofSection('orgMembers').flatMap((member) => {
    const [user, org] = [textAt(member, 'userId'), member.orgId];
    const place = `members organisation ${org} ${user}`;
    const rolesIn = (model: Model) => textsAt(model.records.get(place) ?? NONE, 'roles[]');
    return organisationRoles.map((role): Protection => {
      const isPossible = (model: Model) =>
        model.records.has(place) && (change === 'add' || rolesIn(model).includes(role));
      return {
        name: `member ${change} of ${user}'s role ${role} in ${org}`,
        call: (system) => succeeded(system, `member ${change}`, [], { user, role, org }),
        effect: (model) => {
          const stored = model.records.get(place);
          if (stored === undefined || !isPossible(model)) return;
          const others = rolesIn(model).filter((held) => held !== role);
          // The call also writes a role that the user has already, so that an import does not replace it.
          const added = rolesIn(model).includes(role) ? rolesIn(model) : [...others, role];
          const roles = change === 'add' ? added : others;
          if (roles.length === 0) model.remove(place);
          else model.change(place, stored, { json: { ...stored.json, roles } });
        },
        succeeds: isPossible,
        place,
      };
    });
  });

const revocation = (before: Model): readonly Protection[] =>
  // The machine itself uses the token whose secret the model does not have.
  [...before.tokens]
    .filter(([, { secret }]) => secret !== '')
    .map(([id]) => ({
      name: `pat revoke ${id}`,
      call: (system) => succeeded(system, 'pat revoke', [id]),
      effect: ({ tokens }) => void tokens.delete(id),
      succeeds: ({ tokens }) => tokens.has(id),
    }));

async function succeeded(system: System, ...command: Parameters<System['run']>): Promise<boolean> {
  return 'json' in (await system.run(...command));
}

/** Every call that takes something away without the lock, and the opposites of a lock and of a removed role. */
const kinds: readonly ((before: Model) => readonly Protection[])[] = [
  () => changeOfLock('lock'),
  () => changeOfLock('unlock'),
  removalOfFactor,
  (before) => changeOfMember(before, 'remove'),
  (before) => changeOfMember(before, 'remove'),
  (before) => changeOfMember(before, 'add'),
  revocation,
];

export const anyProtection: fc.Arbitrary<AnyProtection> = fc
  .record({ kind: fc.nat(59), nth: fc.nat(59) })
  .map(({ kind, nth }) => ({
    name: `protection ${kind} ${nth}`,
    choose: (model, preferred = new Set()) => {
      const calls = kinds.map((callsIn) => callsIn(model)).filter(({ length }) => length > 0);
      const isLikely = ({ place = '', succeeds }: Protection) => preferred.has(place) && succeeds(model);
      const likely = calls.map((ofKind) => ofKind.filter(isLikely)).filter(({ length }) => length > 0);
      const lists = likely.length > 0 ? likely : calls;
      const list = lists[kind % lists.length] ?? [];
      return required(list[nth % list.length]);
    },
  }));

/** Does some work, whose errors then contain the call. */
export async function naming<Result>({ name }: Protection, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new Error(name, { cause });
  }
}
