export const formWords = {
  unset: 'Not set',
  unsetMeans: (standard: string) => `Not set: ${standard}`,
  yes: 'Yes',
  no: 'No',
  onePerLine: 'One per line.',
  asJson: 'As JSON.',
  noJson: 'This is not valid JSON',
  secretKept: 'Left empty, it stays as it is.',
} as const;
