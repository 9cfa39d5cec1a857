export const riskLabels = {
  elevated: 'Elevated risk of a ban',
  high: 'High risk of a ban',
};
