export const formStrings = {
  unset: 'Not set',
  unsetMeans: (value: string) => `Not set (default: ${value})`,
  yes: 'Yes',
  no: 'No',
  onePerLine: 'One per line.',
  asJson: 'Enter JSON.',
  invalidJson: 'Enter valid JSON',
  secretKept: 'Leave it empty to keep the current value.',
} as const;
