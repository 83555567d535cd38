import { maskSensitiveData, secretRegistry } from '@devs/core';

/** Shorter values are found in ordinary words. */
const MIN_SECRET = 8;

/** A variable as it is shown: its value, unless its name or its form says that it is a secret. */
export function shownVariable(name: string, value: string): string {
  const whole = `${name}=${value}`;
  return value.length >= MIN_SECRET ? maskSensitiveData(whole) : whole;
}

/**
 * Makes known what of these variables is secret, by name or by form: from here on this process masks it wherever it shows
 * or records a text. Values such as `true` and `3000` stay what they are.
 */
export function registerSecretVariables(variables: Readonly<Record<string, string>>): void {
  secretRegistry.registerFromEnv(variables);
  for (const value of Object.values(variables).flatMap(secretForms)) {
    // The registry refuses words that masks themselves write.
    if (!maskSensitiveData('[REDACTED] [API_KEY=REDACTED]').includes(value)) secretRegistry.register(value);
  }
}

/** A value whose form says that it is a secret, and the password in it where it is a URL. */
function secretForms(value: string): readonly string[] {
  if (value.length < MIN_SECRET || maskSensitiveData(value) === value) return [];
  const password = URL.canParse(value) ? new URL(value).password : '';
  return [value, password, decoded(password)].filter((form) => form.length >= MIN_SECRET);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
