import { removeOtpEmail } from '../../functions/removeOtpEmail/operation.ts';
import { listUsers } from '../../shared/accounts/listing.ts';
import { openAudit, systemAccount } from '../../shared/audit/openAudit.ts';
import { userKey } from '../../shared/auth/authorise.ts';
import { factorFields } from '../../shared/organisation/factors.ts';
import type { CommandCall, OpenInstance } from '../command.ts';
import { type People, PersonSearch } from './people.ts';

type OpenCall = Pick<CommandCall, 'stderr' | 'now'> & Pick<OpenInstance, 'store' | 'location'>;

/** Returns the people of a database. The instance's audit trail records each removal. */
export function openDatabasePeople({ store, location, stderr, now }: OpenCall): People & AsyncDisposable {
  const audit = openAudit(store, { storeLocation: location }, stderr);
  return {
    async find(users, signal) {
      const search = new PersonSearch(users);
      for await (const { kind, email = '', ...user } of listUsers(store, undefined)) {
        signal.throwIfAborted();
        if (kind === 'person') search.add({ ...user, email });
      }
      return search.found;
    },
    async hasOtpEmail(userId) {
      const [user] = await store.getMany([userKey(userId)], [factorFields['otp-email']]);
      return user?.otpEmail === true;
    },
    async removeOtpEmail(userId) {
      const audited = audit.call('otp-email', { account: systemAccount() });
      await audited.run(() => removeOtpEmail(store, undefined, userId, now, audited));
    },
    [Symbol.asyncDispose]: () => audit.close(),
  };
}
