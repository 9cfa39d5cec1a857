export const MIN_PASSWORD_LENGTH = 10;
export const MAX_PASSWORD_LENGTH = 256;

/** Words that are obvious guesses on this server. */
const PRODUCT_WORDS = ['switchboard'];
/** A common password with up to this many digits and symbols around it is still common: `Sunshine2026!`. */
const MAX_TRIMMED_CHARACTERS = 6;
const MIN_CHARACTERS = 4;

export interface Weakness {
  readonly code: 'common_password' | 'simple_password' | 'email_as_password';
  readonly message: string;
}

/** Finds passwords that attackers guess first. NIST SP 800-63B recommends a blocklist instead of composition rules. */
export class PasswordRules {
  readonly #readCommon: () => Promise<ReadonlySet<string>>;
  #common: Promise<ReadonlySet<string>> | undefined;

  constructor(read = readCommon) {
    this.#readCommon = read;
  }

  /** The cost grows with the length of the password, which is bounded, and not with the list. */
  async weaknessOf(password: string, email: string): Promise<Weakness | undefined> {
    const plain = password.normalize('NFKC').toLowerCase();
    const [name = ''] = email.toLowerCase().split('@', 1);
    if (plain === email.toLowerCase() || isDecorated(plain, name))
      return { code: 'email_as_password', message: 'must not be the email address or the part before its @' };
    if (new Set(plain).size < MIN_CHARACTERS || isSequence(plain))
      return { code: 'simple_password', message: 'is too simple; use a sentence, for example' };
    const common = await this.#commonPasswords();
    if ([plain, unitOf(plain)].some((text) => common.has(text) || common.has(stemOf(text))))
      return { code: 'common_password', message: 'is too common; use a sentence, for example' };
    return undefined;
  }

  /** Reads the list at the first registration, and again if that failed, for example for lack of file descriptors. */
  #commonPasswords(): Promise<ReadonlySet<string>> {
    this.#common ??= this.#readCommon().catch((error) => {
      this.#common = undefined;
      throw error;
    });
    return this.#common;
  }
}

/** Some 50,000 leaked passwords, collected for zxcvbn. Loading takes 70 ms and a few MB, so it happens on first use. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set([...dictionary['passwords-common'], ...PRODUCT_WORDS]);
}

/** Strips a few digits and symbols from the start and the end. */
function stemOf(text: string): string {
  const stem = text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
  return text.length - stem.length <= MAX_TRIMMED_CHARACTERS ? stem : text;
}

function isDecorated(text: string, name: string): boolean {
  return name.length >= MIN_CHARACTERS && (text === name || stemOf(text) === stemOf(name));
}

/** Returns the repeated unit of a text, or the text itself: `abc123` for `abc123abc123`. */
function unitOf(text: string): string {
  for (let length = 1; length <= text.length / 2; length++) {
    const unit = text.slice(0, length);
    if (text.length % length === 0 && unit.repeat(text.length / length) === text) return unit;
  }
  return text;
}

/** Whether each character follows the previous one, up or down: `abcdefghij`, `9876543210`. */
function isSequence(text: string): boolean {
  const steps = new Set([...text].slice(1).map((char, index) => char.charCodeAt(0) - text.charCodeAt(index)));
  return steps.size === 1 && [1, -1].includes([...steps][0] ?? 0);
}
