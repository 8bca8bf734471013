import { zitadelRoles as roles } from '../../../support/fixtures/zitadelRoles.ts';

/** A role that a caller holds: on the instance, on an organisation, or on a project of the caller's own organisation. */
export interface Holding {
  /** Undefined for a caller without any role. */
  readonly role: string | undefined;
  readonly on: 'instance' | 'own' | 'other' | 'project' | undefined;
}

/** The roles of callers: none, or any one role wherever it can be held. */
export const holdings: readonly Holding[] = [
  { role: undefined, on: undefined },
  ...roles.instance.map((role) => ({ role, on: 'instance' }) as const),
  ...roles.organisation.map((role) => ({ role, on: 'own' }) as const),
  ...roles.organisation.map((role) => ({ role, on: 'other' }) as const),
  ...roles.project.map((role) => ({ role, on: 'project' }) as const),
];

/** The operations, by their names in restricted tokens. */
export type Operation = 'export' | 'import' | 'otp-email';

/** A kind of valid token. The others are in `states.ts`. */
export interface TokenKind {
  readonly name: string;
  readonly owner: 'person' | 'serviceUser';
  /** The operations that the token is restricted to. */
  readonly only?: readonly Operation[];
}

const serviceUser = { owner: 'serviceUser' } as const;

/** The kinds of tokens. */
export const tokenKinds: readonly TokenKind[] = [
  { name: "a person's token", owner: 'person' },
  { name: "a service user's token", ...serviceUser },
  { name: "a service user's token, --only export", ...serviceUser, only: ['export'] },
  { name: "a service user's token, --only import", ...serviceUser, only: ['import'] },
  { name: "a service user's token, --only export,import", ...serviceUser, only: ['export', 'import'] },
  { name: "a service user's token, --only otp-email", ...serviceUser, only: ['otp-email'] },
  { name: "a person's token, --only otp-email", owner: 'person', only: ['otp-email'] },
];

/** The target user of a removal or list: the caller, another user in an organisation, or no existing user. */
export const users = ['self', 'own', 'other', 'default', 'nobody'] as const;

/** The organisations that an export or import selects. */
export const selections = ['all', 'own', 'other', 'default'] as const;

export type User = (typeof users)[number];
export type Selection = (typeof selections)[number];
