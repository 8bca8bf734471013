import { describeFault } from '../faults.ts';

/** The result of one check of `identity doctor`. */
export interface Check {
  /** What was checked, such as `clock`. */
  readonly subject: string;
  readonly status: 'ok' | 'warning' | 'failed';
  /** What was found and, unless that is as it should be, what to do. */
  readonly message: string;
}

/** What a check has found. */
export type Finding = Omit<Check, 'subject'>;

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warning = (message: string): Finding => ({ status: 'warning', message });
export const failed = (message: string): Finding => ({ status: 'failed', message });

/** Runs one check. An error is a finding: its message says what to do. */
export async function check(subject: string, find: () => Promise<Finding> | Finding): Promise<Check> {
  try {
    return { subject, ...(await find()) };
  } catch (error) {
    // Some faults have several lines.
    return {
      subject,
      ...failed(
        describeFault(error)
          .message.trim()
          .replace(/\s*\n\s*/g, '; '),
      ),
    };
  }
}
