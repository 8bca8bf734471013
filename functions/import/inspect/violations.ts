import { type FieldViolation, invalidRequest } from '../../../shared/errors/errors.ts';
import type { IdentityError } from '../../../shared/errors/identityError.ts';
import { formatPath, JsonError, type JsonPath } from '../../../shared/json/jsonScanner.ts';
import { type FieldIssue, InvalidRecordError } from '../../../shared/organisation/record.ts';
import { causedBy } from '../../../shared/organisation/rules.ts';

const MAX_VIOLATIONS = 100;

/** Gathers the faults of a document, each with its path, up to as many as one answer tells. */
export class Violations {
  private readonly found: FieldViolation[] = [];
  private first: string | undefined;
  /** The request's field that holds the document, where it is in the request itself. */
  private readonly field: string | undefined;

  constructor(field: string | undefined) {
    this.field = field;
  }

  get full(): boolean {
    return this.found.length >= MAX_VIOLATIONS;
  }

  /** Runs `work` on the value at `path`, and notes its faults. Any other error is passed on. */
  during(path: JsonPath, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError) && !(error instanceof InvalidRecordError)) throw error;
      this.add(error, path);
    }
  }

  add(error: JsonError | InvalidRecordError, path: JsonPath): void {
    if (error instanceof JsonError) this.note({ field: formatPath(error.path), description: error.message }, undefined);
    else for (const field of error.issues) this.note(toViolation(path, field), this.zitadelMessage(path, field));
  }

  /** @throws IdentityError INVALID_ARGUMENT with all faults, if there are any */
  throwIfAny(): void {
    if (this.found.length > 0) throw this.error();
  }

  private error(): IdentityError {
    return invalidRequest(this.found.slice(0, MAX_VIOLATIONS), this.first);
  }

  private note(violation: FieldViolation, message: string | undefined): void {
    if (this.found.length === 0) this.first = message;
    this.found.push(violation);
  }

  /** A broken rule as ZITADEL says it: every message on the way from the request to the field (zitadel 3.2). */
  private zitadelMessage([, organisation, section, index]: JsonPath, { message }: FieldIssue): string | undefined {
    if (message === undefined || typeof organisation !== 'number') return undefined;
    const request = this.field === undefined ? '' : causedBy('ImportDataRequest', this.field);
    const inSection = typeof index === 'number' || !message.startsWith('invalid DataOrg.');
    const record = inSection ? causedBy('DataOrg', String(section), typeof index === 'number' ? index : undefined) : '';
    return `${request}${causedBy('ImportDataOrg', 'orgs', organisation)}${record}${message}`;
  }
}

function toViolation(path: JsonPath, { path: within, reason }: FieldIssue): FieldViolation {
  const from = path.length === 3 && within.startsWith(`${path[2]}`) ? path.slice(0, 2) : path;
  const place = formatPath(from);
  return { field: within === '' ? place : `${place}.${within}`, description: reason };
}
