import { enableOtpEmail } from '../../shared/accounts/otpEmail.ts';
import { argument, type Run } from '../command.ts';

/** `identity otp-email enable`. */
export const otpEmailEnable: Run = async (invocation) => {
  const userId = argument(invocation, 0);
  const sequence = await enableOtpEmail(invocation.store, userId, invocation.now);
  return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
};
