import { maskSensitiveData, secretRegistry } from '@devs/core';

/** Shorter values are found in ordinary words. */
const MIN_SECRET = 8;

/** A variable as it is shown: its value, unless it is a secret by its name or its form. */
export function shownVariable(name: string, value: string): string {
  const whole = `${name}=${value}`;
  return value.length >= MIN_SECRET ? maskSensitiveData(whole) : whole;
}

/**
 * Registers the values of these variables that are secret by name or by form. From here on this process masks them wherever it
 * shows or records a text. Values such as `true` and `3000` stay as they are.
 */
export function registerSecretVariables(variables: Readonly<Record<string, string>>): void {
  secretRegistry.registerFromEnv(variables);
  for (const value of Object.values(variables).flatMap(secretForms)) {
    // The registry refuses words that masks themselves write.
    if (!maskSensitiveData('[REDACTED] [API_KEY=REDACTED]').includes(value)) secretRegistry.register(value);
  }
}

/** A value that is a secret by its form, and the password in it where it is a URL. */
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
