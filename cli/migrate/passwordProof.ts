import { hash } from 'node:crypto';
import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { passwordHashFormat } from '../../shared/organisation/passwords.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import type { RecordContent } from '../compare/comparedRecord.ts';
import type { MigrationResult } from './documents.ts';

const path = humanUserSection.credentials?.find(({ field }) => field === 'passwordHash')?.path ?? '';

/** Counts the people who can log in with the password of before, because its hash is on both sides byte for byte. */
export class PasswordProof {
  private readonly verifies: (format: string) => boolean;
  private people = 0;
  private withPassword = 0;
  private readonly formats = new Map<string, number>();

  /** @param verifies whether the target can verify hashes of a format */
  constructor(verifies: (format: string) => boolean) {
    this.verifies = verifies;
  }

  /** Takes the records of the source. */
  readonly source: RecordVisitor = {
    add: ({ section, credentials }) => {
      if (section !== humanUserSection) return;
      this.people++;
      if (credentials.passwordHash !== undefined) this.withPassword++;
    },
    reset: () => {
      [this.people, this.withPassword] = [0, 0];
    },
  };

  /** Takes a record of the target, and what the source has of it. */
  addPair({ section, credentials: { passwordHash } }: OrganisationRecord, { secrets }: RecordContent): void {
    if (section !== humanUserSection || passwordHash === undefined) return;
    if (secrets[path] !== hash('sha256', passwordHash)) return;
    const format = passwordHashFormat(passwordHash) ?? 'unknown';
    this.formats.set(format, (this.formats.get(format) ?? 0) + 1);
  }

  reset(): void {
    this.formats.clear();
  }

  get logins(): MigrationResult['logins'] {
    const { people, withPassword } = this;
    const verified = [...this.formats].filter(([format]) => format !== 'unknown' && this.verifies(format));
    const ready = verified.reduce((sum, [, count]) => sum + count, 0);
    return { people, withPassword, ready, formats: Object.fromEntries(this.formats) };
  }
}
