// People of an instance or a ZITADEL, and the search for them.

/** A person in an instance or a ZITADEL. */
export interface Person {
  readonly userId: string;
  /** Empty for an id that the token cannot look up. */
  readonly orgId: string;
  readonly userName: string;
  /** Empty for a person without e-mail address. */
  readonly email: string;
}

/** The people of an instance or a ZITADEL, and their OTP e-mail factors. */
export interface People {
  /**
   * Finds people by id, user name or e-mail address. Only ids are case-sensitive.
   * @returns the matches of each text
   * @throws IdentityError, UsageError
   */
  find(users: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Person[]>>;
  hasOtpEmail(userId: string, signal: AbortSignal): Promise<boolean>;
  /** @throws IdentityError if the factor does not exist or cannot be removed */
  removeOtpEmail(userId: string, signal: AbortSignal): Promise<void>;
}

/** A search for the people that match some texts, among all people of a place. */
export class PersonSearch {
  private readonly users: readonly string[];
  private readonly byId = new Map<string, Person>();
  private readonly byName = new Map<string, Person[]>();
  private readonly ids: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;

  constructor(users: readonly string[]) {
    this.users = users;
    this.ids = new Set(users);
    this.names = new Set(users.map(searchKey));
  }

  add(person: Person): void {
    if (this.ids.has(person.userId)) this.byId.set(person.userId, person);
    for (const name of new Set([searchKey(person.userName), searchKey(person.email)])) {
      if (!this.names.has(name)) continue;
      const found = this.byName.get(name) ?? [];
      found.push(person);
      this.byName.set(name, found);
    }
  }

  reset(): void {
    this.byId.clear();
    this.byName.clear();
  }

  get found(): ReadonlyMap<string, readonly Person[]> {
    return new Map(this.users.map((user) => [user, this.matches(user)]));
  }

  private matches(user: string): readonly Person[] {
    const person = this.byId.get(user);
    return person === undefined ? (this.byName.get(searchKey(user)) ?? []) : [person];
  }
}

function searchKey(name: string): string {
  return name.toLowerCase();
}
