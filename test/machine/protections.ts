import fc from 'fast-check';
import { anyOrg, anyUser, organisationRoles } from './file.ts';
import { textAt, textsAt } from './kinds.ts';
import type { Model } from './model.ts';
import { brief } from './step.ts';
import type { System } from './system.ts';

/** A call that never waits for an import, which must not undo the call's effect. */
export interface Protection {
  /** @returns whether the call succeeded */
  readonly call: (system: System) => Promise<boolean>;
  /** Takes effect in a model if the call succeeds there; repeated, it changes nothing. */
  readonly effect: (model: Model) => void;
  /** Whether the call succeeds in a model. */
  readonly succeeds: (model: Model) => boolean;
  /** The record that the call changes; undefined if no import can contain it. */
  readonly place?: string;
}

/** A call whose subject depends on the model. */
interface ChosenProtection {
  readonly name: string;
  /** @returns undefined if the call has no subject */
  readonly choose: (model: Model) => Protection | undefined;
}

type AnyProtection = fc.Arbitrary<ChosenProtection>;

const NONE = { json: {}, orgId: '' };

const locks = {
  lock: { from: ['USER_STATE_ACTIVE', 'USER_STATE_INITIAL'], to: 'USER_STATE_LOCKED' },
  unlock: { from: ['USER_STATE_LOCKED'], to: 'USER_STATE_ACTIVE' },
} as const;

const changeOfLock = (change: keyof typeof locks): AnyProtection =>
  anyUser.map((userId) => {
    const place = `users ${userId}`;
    const { from, to } = locks[change];
    const stateIn = (model: Model) => textAt(model.records.get(place) ?? NONE, 'state');
    return always(`user ${change} ${userId}`, {
      call: (system) => succeeded(system, `user ${change}`, [userId]),
      effect: (model) => {
        const user = model.records.get(place);
        if (user === undefined || !from.some((state) => state === stateIn(model))) return;
        model.change(place, user, { json: { ...user.json, state: to } });
      },
      succeeds: (model) => [...from, to].some((state) => state === stateIn(model)),
      place,
    });
  });

const removalOfFactor: AnyProtection = anyUser.map((userId) => {
  const place = `users ${userId}`;
  return always(`removal of ${userId}'s factor`, {
    call: async (system) => (await system.removeOtpEmail(system.instance.token, userId)).status === 200,
    effect: (model) => {
      const user = model.records.get(place);
      if (user?.factor === true) model.change(place, user, { factor: false });
    },
    succeeds: (model) => model.records.get(place)?.factor === true,
    place,
  });
});

const removalOfMember: AnyProtection = fc
  .record({ user: anyUser, org: anyOrg, role: fc.constantFrom(...organisationRoles) })
  .map((membership) => {
    const { user, org, role } = membership;
    const place = `members organisation ${org} ${user}`;
    const rolesIn = (model: Model) => textsAt(model.records.get(place) ?? NONE, 'roles[]');
    return always(`member remove ${brief(membership)}`, {
      call: (system) => succeeded(system, 'member remove', [], membership),
      effect: (model) => {
        const member = model.records.get(place);
        const roles = rolesIn(model).filter((held) => held !== role);
        if (member === undefined || !rolesIn(model).includes(role)) return;
        if (roles.length === 0) model.records.delete(place);
        else model.change(place, member, { json: { ...member.json, roles } });
      },
      succeeds: (model) => rolesIn(model).includes(role),
      place,
    });
  });

const revocation: AnyProtection = fc.nat(3).map((nth) => ({
  name: `pat revoke, token ${nth}`,
  choose: (before) => {
    // The machine itself uses the token whose secret the model does not have.
    const ids = [...before.tokens].filter(([, { secret }]) => secret !== '').map(([id]) => id);
    const id = ids[nth % Math.max(1, ids.length)];
    if (id === undefined) return undefined;
    return {
      call: (system) => succeeded(system, 'pat revoke', [id]),
      effect: ({ tokens }) => void tokens.delete(id),
      succeeds: ({ tokens }) => tokens.has(id),
    };
  },
}));

function always(name: string, protection: Protection): ChosenProtection {
  return { name, choose: () => protection };
}

async function succeeded(system: System, ...command: Parameters<System['run']>): Promise<boolean> {
  return 'json' in (await system.run(...command));
}

/** Any call that takes something away without the lock, and the opposite of a lock. */
export const anyProtection: AnyProtection = fc.oneof(
  changeOfLock('lock'),
  changeOfLock('lock'),
  changeOfLock('unlock'),
  removalOfFactor,
  removalOfMember,
  removalOfMember,
  revocation,
);
