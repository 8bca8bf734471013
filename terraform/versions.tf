terraform {
  required_version = "~> 1.11"

  required_providers {
    google = {
      source = "hashicorp/google"
      # The first release whose every type here has a deletion policy.
      version = ">= 7.45.0, < 8.0.0"
    }
  }

  # Its bucket is given at init: -backend-config=bucket=BUCKET.
  backend "gcs" {
    prefix = "identity"
  }
}

provider "google" {
  project = var.project_id
  region  = var.region

  # The Firebase Rules API wants to know a project to count calls for, even where a person applies.
  billing_project       = var.project_id
  user_project_override = true
}
