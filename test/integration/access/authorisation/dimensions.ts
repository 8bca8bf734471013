import { zitadelRoles as roles } from '../../../support/fixtures/zitadelRoles.ts';

/** A role that a caller holds: on the instance, on an organisation, or on a project of the caller's own organisation. */
export interface Holding {
  /** Undefined for a caller without any role. */
  readonly role: string | undefined;
  readonly on: 'instance' | 'own' | 'other' | 'project' | undefined;
}

/** What callers hold: nothing, or any one role wherever it can be held. */
export const holdings: readonly Holding[] = [
  { role: undefined, on: undefined },
  ...roles.instance.map((role) => ({ role, on: 'instance' }) as const),
  ...roles.organisation.map((role) => ({ role, on: 'own' }) as const),
  ...roles.organisation.map((role) => ({ role, on: 'other' }) as const),
  ...roles.project.map((role) => ({ role, on: 'project' }) as const),
];

/** The operations by the names that restricted tokens have for them. */
export type Operation = 'export' | 'import' | 'otp-email';

/** A kind of token, with the state of its owner and the owner's organisation. */
export interface TokenKind {
  readonly name: string;
  readonly owner: 'person' | 'serviceUser';
  /** The operations that the token is restricted to. */
  readonly only?: readonly Operation[];
  readonly ended?: 'expired' | 'revoked' | 'ownerGone' | 'otherSecret';
  readonly ownerState?: string;
  readonly organisationState?: string;
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
  { name: "an expired service user's token", ...serviceUser, ended: 'expired' },
  { name: "a revoked service user's token", ...serviceUser, ended: 'revoked' },
  { name: "a deleted service user's token", ...serviceUser, ended: 'ownerGone' },
  { name: "a token whose id is stored with another token's digest", ...serviceUser, ended: 'otherSecret' },
  { name: "an initial person's token", owner: 'person', ownerState: 'USER_STATE_INITIAL' },
  { name: "an inactive service user's token", ...serviceUser, ownerState: 'USER_STATE_INACTIVE' },
  { name: "a locked service user's token", ...serviceUser, ownerState: 'USER_STATE_LOCKED' },
  { name: "a suspended service user's token", ...serviceUser, ownerState: 'USER_STATE_SUSPEND' },
  { name: 'a token of a service user in deletion', ...serviceUser, ownerState: 'USER_STATE_DELETED' },
  {
    name: "a token of an inactive organisation's service user",
    ...serviceUser,
    organisationState: 'ORG_STATE_INACTIVE',
  },
  { name: "a token of a removed organisation's service user", ...serviceUser, organisationState: 'ORG_STATE_REMOVED' },
];

/** The user that a removal or list is about: the caller, someone else in an organisation, or nobody. */
export const users = ['self', 'own', 'other', 'default', 'nobody'] as const;

/** The organisations that an export or import selects. */
export const selections = ['all', 'own', 'other', 'default'] as const;

export type User = (typeof users)[number];
export type Selection = (typeof selections)[number];
