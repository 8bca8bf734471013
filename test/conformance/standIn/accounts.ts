import { randomBytes } from 'node:crypto';

/** A person or service user of the stand-in. */
interface User {
  readonly owner: string;
  readonly isVerified: boolean;
  readonly roles: Set<string>;
  hasFactor: boolean;
  sequence: number;
}

interface Token {
  readonly userId: string;
  readonly expiresAt: number;
}

/** The users of a stand-in, their tokens and their roles. */
export interface Accounts {
  readonly users: ReadonlyMap<string, User>;
  add(userId: string, owner: string, isVerified: boolean): void;
  remove(owner: string): void;
  createToken(userId: string, expiresAt: number): string;
  /** Refuses the tokens that the user has. One that is made afterwards works, as at ZITADEL. */
  deactivate(userId: string): void;
  /** Returns whose token it is, if it works. */
  callerOf(token: string): string | undefined;
}

/** Makes the accounts of a stand-in, with an IAM_OWNER of the given token. */
export function accounts(ownerToken: string): Accounts {
  const users = new Map<string, User>();
  const tokens = new Map<string, Token>();
  const add = (userId: string, owner: string, isVerified: boolean) => {
    if (!users.has(userId)) users.set(userId, { owner, isVerified, roles: new Set(), hasFactor: false, sequence: 2 });
  };
  add('owner', 'default', true);
  users.get('owner')?.roles.add('IAM_OWNER');
  tokens.set(ownerToken, { userId: 'owner', expiresAt: Infinity });
  return {
    users,
    add,
    remove: (owner) => {
      for (const [userId, user] of users) if (user.owner === owner) users.delete(userId);
    },
    createToken: (userId, expiresAt) => {
      const token = randomBytes(24).toString('base64url');
      tokens.set(token, { userId, expiresAt });
      return token;
    },
    deactivate: (userId) => {
      for (const [token, { userId: holder }] of tokens) if (holder === userId) tokens.delete(token);
    },
    callerOf: (token) => {
      const { userId = '', expiresAt = 0 } = tokens.get(token) ?? {};
      return expiresAt > Date.now() && users.has(userId) ? userId : undefined;
    },
  };
}
