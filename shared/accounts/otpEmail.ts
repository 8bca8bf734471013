import { userKey } from '../auth/memberKeys.ts';
import { otpEmailSet, userUnknown } from '../errors/accountErrors.ts';
import type { Store } from '../store/store.ts';

/**
 * Gives a person the OTP e-mail factor, in one transaction.
 * @returns the number of changes of the user so far
 * @throws IdentityError NOT_FOUND where no person has this id, ALREADY_EXISTS where the person has the factor
 */
export function enableOtpEmail(store: Store, userId: string, now: Date): Promise<number> {
  const key = userKey(userId);
  return store.transaction(async (transaction) => {
    const [user] = await transaction.getMany([key], ['otpEmail', 'sequence', 'partition']);
    if (!user?.partition?.startsWith('humanUsers/')) throw userUnknown(userId);
    if (user.otpEmail === true) throw otpEmailSet();
    const sequence = (user.sequence ?? 0) + 1;
    transaction.write([{ type: 'update', key, fields: { otpEmail: true, sequence, changedAt: now.toISOString() } }]);
    return sequence;
  });
}
