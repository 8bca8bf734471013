mock_provider "google" {
  source = "../../tests/mocks"
}

run "stays_within_the_hundred_tests_of_a_map" {
  variables {
    admin_requests_per_minute = 60
    region                    = "europe-west1"
    requests_per_minute       = 600
    instances = { for number in range(30) : "instance-${number}" => {
      domains  = ["id-${number}.example.com"]
      services = { removeOtpEmail = "i${number}-remove-otp-email", export = "i${number}-export", import = "i${number}-import" }
    } }
  }
  assert {
    condition     = length(google_compute_url_map.this.test) == 100 && length(google_compute_url_map.this.path_matcher) == 30
    error_message = "A map accepts at most 100 tests, and must still have the routes of every instance."
  }
}
