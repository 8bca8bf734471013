import { enableOtpEmail } from '../../shared/accounts/otpEmail.ts';
import { argument, type Command } from '../command.ts';

/** `identity otp-email enable`. */
export const otpEmailEnable: Command = {
  name: 'otp-email enable',
  usage: 'USER_ID',
  summary: 'give a person the OTP e-mail factor',
  options: {},
  positionals: 1,
  async run(invocation) {
    const userId = argument(invocation, 0);
    const sequence = await enableOtpEmail(invocation.store, userId, invocation.now);
    return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
  },
};
