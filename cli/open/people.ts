// People of an instance or a ZITADEL, and the search for them.

import { domainToASCII, domainToUnicode } from 'node:url';

/** A person in an instance or a ZITADEL. */
export interface Person {
  readonly userId: string;
  /** Empty for an id that the token cannot look up. */
  readonly orgId: string;
  readonly userName: string;
  /** Empty for a person without e-mail address. */
  readonly email: string;
  /** The names with the domains of the organisation; absent at an instance, which has no login. */
  readonly loginNames?: readonly string[];
}

/** The fields by which people are found, as messages name them. Only ids are case-sensitive. */
const searchedFields = {
  id: ({ userId }: Person, text: string) => userId === text,
  'user name': ({ userName }: Person, text: string) => searchKey(userName) === searchKey(text),
  'e-mail address': ({ email }: Person, text: string) => searchKey(email) === searchKey(text),
  'login name': ({ loginNames = [] }: Person, text: string) =>
    loginNames.some((name) => searchKey(name) === searchKey(text)),
};

/** A person that a text matches, and the fields that match. */
export interface Match extends Person {
  readonly matchedBy: readonly string[];
}

/** The people of an instance or a ZITADEL, and their OTP e-mail factors. */
export interface People {
  /**
   * Finds people by id, user name, e-mail address or login name. Only ids are case-sensitive.
   * @returns the matches of each text
   * @throws IdentityError
   */
  find(users: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Match[]>>;
  hasOtpEmail(userId: string, signal: AbortSignal): Promise<boolean>;
  /** @throws IdentityError if the factor does not exist or cannot be removed */
  removeOtpEmail(userId: string, signal: AbortSignal): Promise<void>;
}

/** A search for the people that match some texts, among all people of a place. */
export class PersonSearch {
  private readonly users: readonly string[];
  /** The people by the keys of the texts that may match them. */
  private readonly candidates: ReadonlyMap<string, Map<string, Person>>;

  constructor(users: readonly string[]) {
    this.users = users;
    this.candidates = new Map(users.map((user) => [searchKey(user), new Map()]));
  }

  /** Adds a person, who may have been added before. */
  add(person: Person): void {
    const { userId, userName, email, loginNames = [] } = person;
    for (const name of [userId, userName, email, ...loginNames])
      this.candidates.get(searchKey(name))?.set(userId, person);
  }

  reset(): void {
    for (const people of this.candidates.values()) people.clear();
  }

  get found(): ReadonlyMap<string, readonly Match[]> {
    return new Map(this.users.map((user) => [user, this.matches(user)]));
  }

  private matches(user: string): readonly Match[] {
    const candidates = this.candidates.get(searchKey(user))?.values() ?? [];
    return [...candidates].map((person) => toMatch(person, user)).filter(({ matchedBy }) => matchedBy.length > 0);
  }
}

function toMatch(person: Person, text: string): Match {
  const fields = Object.entries(searchedFields).filter(([, matches]) => matches(person, text));
  return { ...person, matchedBy: fields.map(([name]) => name) };
}

/** Returns a name as it is compared: in lower case, and the domain of an e-mail address or login name as DNS has it. */
function searchKey(name: string): string {
  const [local, domain] = splitDomain(name);
  // Of a text that is no name of DNS, such as a user name, the conversion returns nothing.
  return (domain === undefined ? local : `${local}@${domainToASCII(domain) || domain}`).toLowerCase();
}

/** Returns the spellings of a name under which a ZITADEL may have it: with the domain in ASCII, and in its own letters. */
export function spellings(name: string): readonly string[] {
  const [local, domain] = splitDomain(name);
  if (domain === undefined) return [name];
  const others = [domainToASCII(domain), domainToUnicode(domain)].filter((other) => other !== '');
  return [...new Set([name, ...others.map((other) => `${local}@${other}`)])];
}

function splitDomain(name: string): readonly [local: string, domain: string | undefined] {
  const at = name.lastIndexOf('@');
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
}
