import { isJsonObject, putAt } from '../shared/json/jsonObject.ts';
import type { DocumentFields } from '../shared/store/documentFields.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** Builds an organisation document's bytes of stored users in the plainest way, and counts the users. */
export class RawText {
  private pending = '{"orgs":[{"humanUsers":[';
  users = 0;
  bytes = 0;

  /** Adds a user with the credentials that are stored beside it. */
  add({ body = '', passwordHash, totpSeed }: DocumentFields): void {
    const json: unknown = JSON.parse(body);
    if (!isJsonObject(json)) throw new Error('a stored user is no object');
    putAt(json, 'user.hashedPassword.value', passwordHash);
    putAt(json, 'user.otpCode', totpSeed);
    this.pending += `${this.users === 0 ? '' : ','}${JSON.stringify(json)}`;
    this.users++;
    if (this.pending.length > CHUNK_CHARACTERS) this.flush();
  }

  end(): void {
    this.pending += ']}]}';
    this.flush();
  }

  private flush(): void {
    this.bytes += Buffer.from(this.pending).length;
    this.pending = '';
  }
}
