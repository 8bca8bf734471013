resource "google_firebaserules_ruleset" "this" {
  project = var.project_id

  source {
    files {
      name    = "firestore.rules"
      content = file("${path.module}/../../../firestore.rules")
    }
  }

  # The release must not name a deleted ruleset at any moment.
  lifecycle {
    create_before_destroy = true
  }
}

# The provider replaces a release whose ruleset changes: with a deletion policy, the old one would stay and be in the way.
resource "google_firebaserules_release" "this" {
  project      = var.project_id
  name         = "cloud.firestore/${google_firestore_database.this.name}"
  ruleset_name = google_firebaserules_ruleset.this.name
}
