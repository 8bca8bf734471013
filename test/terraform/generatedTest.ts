/** Writes a test of Terraform that applies settings: what is assigned in them is assigned in a test alike. The archives are the tests' own. */
export function appliedBy(assignments: string): string {
  return `
mock_provider "time" {}

mock_provider "google" {
  source = "./tests/mocks"
}

variables {
${assignments}
  dist_directory = "tests/archives"
}

run "applies" {
  assert {
    condition     = output.base_urls == { for id, instance in var.instances : id => "https://\${instance.domain}" }
    error_message = "Each instance must be served at its domain."
  }
}
`;
}
